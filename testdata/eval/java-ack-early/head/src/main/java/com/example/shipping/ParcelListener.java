package com.example.shipping;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.rabbitmq.client.Channel;
import java.io.IOException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.amqp.rabbit.annotation.RabbitListener;
import org.springframework.amqp.support.AmqpHeaders;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.stereotype.Component;

/** Takes carriers' events in. The container leaves acknowledging to us. */
@Component
public class ParcelListener {

  private static final Logger log = LoggerFactory.getLogger(ParcelListener.class);

  private final ObjectMapper json;
  private final ParcelService parcels;

  public ParcelListener(ObjectMapper json, ParcelService parcels) {
    this.json = json;
    this.parcels = parcels;
  }

  @RabbitListener(queues = "parcel-events", ackMode = "MANUAL")
  public void onEvent(byte[] body, Channel channel, @Header(AmqpHeaders.DELIVERY_TAG) long tag)
      throws IOException {
    ParcelEvent event;
    try {
      event = json.readValue(body, ParcelEvent.class);
    } catch (JsonProcessingException e) {
      log.error("event can't be read, goes to the dead letters", e);
      channel.basicReject(tag, false);
      return;
    }
    channel.basicAck(tag, false);
    parcels.apply(event);
    parcels.notifyCustomer(event);
  }
}
