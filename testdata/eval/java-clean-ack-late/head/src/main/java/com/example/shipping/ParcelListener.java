package com.example.shipping;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.rabbitmq.client.Channel;
import java.io.IOException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.amqp.rabbit.annotation.RabbitListener;
import org.springframework.amqp.support.AmqpHeaders;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.TransientDataAccessException;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.stereotype.Component;

/** Takes carriers' events in, each at least once. */
@Component
public class ParcelListener {

  private static final Logger log = LoggerFactory.getLogger(ParcelListener.class);

  private final ObjectMapper json;
  private final ParcelEventStore events;

  public ParcelListener(ObjectMapper json, ParcelEventStore events) {
    this.json = json;
    this.events = events;
  }

  @RabbitListener(queues = "parcel-events", ackMode = "MANUAL")
  public void onEvent(byte[] body, Channel channel, @Header(AmqpHeaders.DELIVERY_TAG) long tag)
      throws IOException {
    try {
      // Does nothing where the event's id is there already.
      events.insertIfNew(json.readValue(body, ParcelEvent.class));
    } catch (TransientDataAccessException e) {
      log.warn("event not stored, goes back to the queue", e);
      channel.basicNack(tag, false, true);
      return;
    } catch (JacksonException | DataAccessException e) {
      log.error("event can't be taken, goes to the dead letters", e);
      channel.basicReject(tag, false);
      return;
    }
    channel.basicAck(tag, false);
  }
}
